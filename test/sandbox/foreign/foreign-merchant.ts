import { type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { once } from "node:events";

/** What a merchant is told by the service, and puts into its environment. Nothing else of the sandbox reaches it. */
export interface ServiceAccess {
  apiUrl: string;
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  merchantId: string;
  webhookSecret: string;
}

/** One shop, as its customers and the service see it: addresses. */
export interface ForeignMerchant {
  url: string;
  /** Absent for one that asks instead of being told. */
  webhookUrl?: string;
  close(): Promise<void>;
}

/** Listens on a free port of this machine. */
export async function listening(server: Server): Promise<{ url: string; close: () => Promise<void> }> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
