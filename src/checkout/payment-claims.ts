import { hasCode } from "../errors/index.js";
import { type Payment } from "../model/payment.js";
import { isSameNumber, keyOfNumber } from "../shared/payment-number.js";
import { type Changes, type NoteRecord, type PaymentStore } from "../store/index.js";

/**
 * A number with which a customer claims that a payment is paid. A claim is no proof, and does not change the
 * state of the payment.
 */
export interface PaymentClaim {
  /**
   * The number of the SMS or the receipt, as the customer wrote it, but without extra spaces: 4 to 40 ASCII
   * characters.
   */
  number: string;
  /** The time at which the customer sent the number: ISO 8601 UTC. */
  at: string;
}

/** The kind of the notes that keep the claims of a payment. The id of a note is the payment's clientId. */
const claimNotes = "claim";
/** The kind of the notes that list, for each number, the payments whose customers gave the number. */
const numberNotes = "claimed";
/**
 * The kind of the notes of payments whose claim waits for an answer. The ids of these notes sort the oldest
 * payment first.
 */
const openNotes = "claim_open";

/** The maximum number of claims that one payment keeps. */
const maxClaims = 3;
/** The maximum number of payments that are stored for one number. */
const maxClaimants = 20;
/** The maximum number of clientIds in one call of the store. */
const maxKeys = 500;
const maxTries = 30;

/** Returns the number that a customer wrote, or `undefined` if the text cannot be the number of a payment. */
export function readClaimNumber(text: unknown): string | undefined {
  if (typeof text !== "string" || text.length > 200) return undefined;
  const number = text.trim().replace(/\s+/g, " ");
  return /^[\w ./#:-]{4,40}$/.test(number) && keyOfNumber(number) !== undefined ? number : undefined;
}

/** Returns the claims about a payment, oldest first. */
export async function readClaims(store: Pick<PaymentStore, "notes">, clientId: string) {
  return claimsIn((await store.notes({ kind: claimNotes, ids: [clientId] }))[0]);
}

function claimsIn(note: NoteRecord | undefined): readonly PaymentClaim[] {
  return (note?.value["claims"] ?? []) as readonly PaymentClaim[];
}

/**
 * Stores a claim about a payment. Keeps only the last three claims. A claim with a number that is already
 * stored changes nothing. The payment itself is not written.
 */
export async function keepClaim<Tx>(
  store: PaymentStore<Tx>,
  payment: Pick<Payment, "clientId" | "createdAt">,
  claim: PaymentClaim,
): Promise<void> {
  const { clientId } = payment;
  const open = { kind: openNotes, id: openId(payment) };
  await saveNotes(store, async () => {
    const [note] = await store.notes({ kind: claimNotes, ids: [clientId] });
    const before = claimsIn(note);
    if (before.some(({ number }) => isSameNumber(number, claim.number))) return undefined;
    const claims = [...before, claim].slice(-maxClaims);
    const dropped = before.filter((one) => !claims.includes(one));
    const [known] = await store.notes({ kind: openNotes, ids: [open.id] });
    // The notes are in the order of their keys, to avoid deadlocks.
    return [
      { kind: claimNotes, id: clientId, version: note?.version ?? 0, value: { claims } },
      // The open note is written again to change its version. A person who has not seen this number then
      // cannot settle the claims.
      { ...open, version: known?.version ?? 0, value: known?.value ?? { since: claim.at } },
      ...(await changedNumbers(store, clientId, { number: claim.number, dropped })),
    ];
  });
}

/**
 * Returns the note that assigns an accepted number of the provider to the payment. No later claim of another
 * payment removes it. Returns no note if there is no number, or if the number is unusable.
 */
export async function notesOfNumber<Tx>(store: PaymentStore<Tx>, clientId: string, number = "") {
  return keyOfNumber(number) === undefined
    ? []
    : changedNumbers(store, clientId, { number, isAccepted: true });
}

/** Saves the notes that `make` returns. Calls `make` again if another process changed a note meanwhile. */
async function saveNotes<Tx>(
  store: PaymentStore<Tx>,
  make: () => Promise<Changes["notes"] | undefined>,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const notes = await make();
    if (notes === undefined) return;
    try {
      return void (await store.transaction((tx) => store.save(tx, { notes })));
    } catch (error) {
      if (!hasCode(error, "store_conflict") || tries === maxTries) throw error;
    }
  }
}

/**
 * Returns the notes of numbers that lead to the payment from now on, and of numbers that no longer lead to
 * it. The notes are sorted to avoid deadlocks.
 */
async function changedNumbers<Tx>(
  store: PaymentStore<Tx>,
  clientId: string,
  {
    number,
    isAccepted = false,
    dropped = [],
  }: { number: string; isAccepted?: boolean; dropped?: readonly PaymentClaim[] },
) {
  const ids = [number, ...dropped.map((one) => one.number)].map((one) => keyOfNumber(one)!).toSorted();
  const stored = await store.notes({ kind: numberNotes, ids });
  return ids.map((id) => {
    const note = stored.find((one) => one.id === id);
    const others = claimantsIn(note).filter((one) => one !== clientId);
    const own = id === keyOfNumber(number) ? [clientId] : [];
    // The first payment stays, because later claims must not hide the payment for which a person accepted the
    // number.
    const all = isAccepted ? [...own, ...others] : [...others, ...own];
    const clientIds = [...all.slice(0, 1), ...all.slice(1).slice(1 - maxClaimants)];
    const value = clientIds.length > 0 ? { clientIds } : null;
    return { kind: numberNotes, id, version: note?.version ?? 0, value };
  });
}

function claimantsIn(note: NoteRecord | undefined): readonly string[] {
  return (note?.value["clientIds"] ?? []) as readonly string[];
}

/** Reads the payments whose customers gave these numbers. Returns a function that selects them by number. */
export async function findClaimed(
  store: Pick<PaymentStore, "notes" | "findMany">,
  numbers: readonly string[],
): Promise<(number: string) => Payment[]> {
  const ids = [...new Set(numbers.flatMap((number) => keyOfNumber(number) ?? []))];
  const notes = ids.length > 0 ? await store.notes({ kind: numberNotes, ids }) : [];
  const clientIds = [...new Set(notes.flatMap(claimantsIn))].slice(0, maxKeys);
  const payments = clientIds.length > 0 ? await store.findMany({ clientIds }) : [];
  return (number) => {
    const claimants = claimantsIn(notes.find(({ id }) => id === keyOfNumber(number)));
    return payments.filter(({ clientId }) => claimants.includes(clientId));
  };
}

/** A payment whose customer says that it is paid. */
export interface OpenClaim {
  payment: Payment;
  claims: readonly PaymentClaim[];
  /** The time of the first claim after a person last settled the claims: ISO 8601 UTC. */
  since: string;
  /** The note that marks the claim as open. */
  note: Pick<NoteRecord, "kind" | "id" | "version">;
  /** Whether the payment is not completed. The next sweep deletes the notes of completed payments. */
  isOpen: boolean;
}

const timeLength = "2026-11-20T10:00:00.000Z".length;

function openId({ createdAt, clientId }: Pick<Payment, "clientId" | "createdAt">): string {
  return `${createdAt}:${clientId}`;
}

/** Returns one page of the payments with open notes, the oldest first, or only the given payment. */
export async function openClaims(
  store: Pick<PaymentStore, "notes" | "findMany">,
  { of, ...page }: { of?: Payment; after?: string; limit: number },
): Promise<OpenClaim[]> {
  const ids = of && { ids: [openId(of)] };
  const notes = await store.notes({ kind: openNotes, ...page, ...ids });
  if (notes.length === 0) return [];
  const clientIds = notes.map(({ id }) => id.slice(timeLength + 1));
  const payments = of ? [of] : await store.findMany({ clientIds });
  const said = await store.notes({ kind: claimNotes, ids: clientIds });
  return notes.flatMap(({ value, ...note }, index): OpenClaim[] => {
    const payment = payments.find(({ clientId }) => clientId === clientIds[index]);
    const claims = claimsIn(said.find(({ id }) => id === clientIds[index]));
    const isOpen = payment?.state !== "completed";
    return payment ? [{ payment, claims, since: value["since"] as string, note, isOpen }] : [];
  });
}

/** Returns the number of payments whose claim waits for an answer, at most 500, because each is read. */
export async function countClaims(store: Pick<PaymentStore, "notes" | "findMany">): Promise<number> {
  return (await openClaims(store, { limit: maxKeys })).filter(({ isOpen }) => isOpen).length;
}

/** Deletes the open notes of completed payments on one page. Returns the position of the next page. */
export async function closeClaims<Tx>(
  store: PaymentStore<Tx>,
  page: { after?: string; limit: number },
): Promise<{ after?: string }> {
  const found = await openClaims(store, page);
  const notes = found.flatMap(({ note, isOpen }) => (isOpen ? [] : [{ ...note, value: null }]));
  if (notes.length > 0)
    await store
      .transaction((tx) => store.save(tx, { notes }))
      .catch((error: unknown) => {
        // Another process was faster.
        if (!hasCode(error, "store_conflict")) throw error;
      });
  return found.length < page.limit ? {} : { after: found.at(-1)!.note.id };
}
