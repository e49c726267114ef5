import { type Sandbox } from "../../contract.js";

/** What the choices depend on. */
export interface Chosen extends Pick<Sandbox, "settings" | "signing"> {
  allowRemote: boolean;
  /** The codes of the providers. */
  sources: string;
  /** The pauses before further attempts; empty where there is one attempt. */
  retries: string;
}
