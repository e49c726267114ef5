import { type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { once } from "node:events";

/** What a merchant learns from the service and puts into its environment. It knows nothing else about the sandbox. */
export interface ServiceAccess {
  apiUrl: string;
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  merchantId: string;
  webhookSecret: string;
}

/** The addresses of one shop, which its customers and the service use. */
export interface ForeignMerchant {
  url: string;
  /** Absent for a shop that reads payments back instead of receiving webhooks. */
  webhookUrl?: string;
  close(): Promise<void>;
}

/** Starts the server on a free port of this machine. */
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
