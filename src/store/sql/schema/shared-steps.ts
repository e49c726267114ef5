import { type Tables } from "../tables/names.js";

// Never change a step here: databases that have run it do not run it again.

/**
 * Adds the column of completed payments that were withheld, and an index by which `prune` finds resolutions.
 */
export const withheldStep = (t: Tables): string[] => [
  `alter table ${t.payments} add column withheld text`,
  `create index ${t.resolutions}_receipt on ${t.resolutions} (receipt_id) where receipt_id is not null`,
];

/**
 * Adds `attention`, the reason why a person has to see a row. The indexes of this column replace the index of
 * parked webhooks.
 */
export const needsStep = (t: Tables): string[] => [
  `alter table ${t.payments} add column attention text`,
  `alter table ${t.webhooks} add column attention text`,
  `create index ${t.payments}_attention on ${t.payments} (attention, created_at, client_id)
    where attention is not null`,
  `create index ${t.webhooks}_attention on ${t.webhooks} (attention, received_at, receipt_id)
    where attention is not null`,
  `drop index ${t.webhooks}_parked`,
  `drop index ${t.dispatches}_dead`,
  `create index ${t.dispatches}_dead on ${t.dispatches} (dead, event_seq, handler) where dead is not null`,
  ...markedNeeds(t),
];

/** Returns statements that set `attention` in the rows of earlier versions. */
export const markedNeeds = (t: Tables): string[] => [
  `update ${t.payments} set attention = case when withheld = 'unsettled' then 'paid_other_amount'
      when state = 'uncertain' or state = 'creating' and overdue_at is not null then 'creation_uncertain'
      when state = 'pending' and overdue_at is not null then 'overdue' end
    where withheld = 'unsettled' or state in ('uncertain', 'creating', 'pending')`,
  `update ${t.webhooks} set attention = case outcome when 'mismatch' then 'mismatched' else outcome end
    where parked = 1 or outcome in ('mismatch', 'inadmissible')
      and receipt_id not in (select receipt_id from ${t.resolutions} where receipt_id is not null)`,
];
