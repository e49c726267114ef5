/** The recommended parts of the contract; each is examined unless it is switched off here. */
export interface StoreCapabilities {
  /** @default true */
  parked?: boolean;
  /** @default true */
  renew?: boolean;
  /** @default true */
  due?: boolean;
  /** @default true */
  stray?: boolean;
  /** @default true */
  lookupDue?: boolean;
}
