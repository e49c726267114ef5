import { type Request, type RequestHandler, type Response } from "express";

/** Express 4 would let a rejection end the process; this hands it on, as Express 5 does by itself. */
export function asyncRoute<Params extends Record<string, string> = Record<string, string>>(
  handle: (req: Request<Params>, res: Response) => Promise<void> | void,
): RequestHandler<Params> {
  return async (req, res, next) => {
    try {
      await handle(req, res);
    } catch (error) {
      next(error);
    }
  };
}
