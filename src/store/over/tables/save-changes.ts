import { type Changes, type Saved } from "../../contract.js";
import { type Draft } from "../records/draft.js";
import { saveEvents } from "./events.js";
import { type KeyedRecords } from "../records/keyed-records.js";
import { conflict, savePayments } from "../../rules/payments.js";
import { changedNote } from "../../rules/notes.js";
import { saveWebhooks } from "../../rules/webhooks.js";
import { keysOfPayments, paymentRows } from "./payments.js";
import { eventKey, handlersKey, noteKey, resolutionKey } from "../records/stored-records.js";
import { loadWebhooks, saveProbe, webhookRows } from "./webhooks.js";

/** Returns a function that writes changes into a draft. */
export function changesSaver(records: KeyedRecords): (draft: Draft, changes: Changes) => Promise<Saved> {
  let lastOrder = 0;
  return async (draft, changes) => {
    const { updated = [], created = [], resolutions = [], notes = [], events = [] } = changes;
    const resolutionKeys = resolutions.map(({ id }) => resolutionKey(id));
    const eventKeys = draft.trustsNewIds ? [] : events.map(({ id }) => eventKey(id));
    const noteKeys = notes.map(noteKey);
    const keys = [...keysOfPayments([...updated, ...created]), ...resolutionKeys, ...noteKeys, ...eventKeys];
    const [now] = await Promise.all([
      records.now(),
      draft.load([...keys, ...(events.length > 0 ? [handlersKey] : [])]),
      loadWebhooks(draft, changes),
    ]);
    // Returns a string that sorts after every earlier string of this process.
    const nextOrder = (): string => {
      lastOrder = Math.max(lastOrder + 1, now * 1000);
      return String(lastOrder).padStart(20, "0");
    };
    const takenClientIds = savePayments(paymentRows(draft), updated, created);
    const takenEventKeys = saveWebhooks(webhookRows(draft, nextOrder), changes);
    saveProbe(draft, changes);
    for (const resolution of resolutions) {
      const key = resolutionKey(resolution.id);
      if (draft.get(key) !== undefined) throw conflict(`The resolution ${resolution.id} exists already.`);
      draft.put(key, resolution);
    }
    for (const [index, note] of notes.entries()) {
      const key = noteKeys[index]!;
      const changed = changedNote(draft.get(key), note);
      if (changed) draft.put(key, changed);
      else draft.delete(key);
    }
    saveEvents(draft, events, nextOrder);
    return { takenClientIds, takenEventKeys };
  };
}
