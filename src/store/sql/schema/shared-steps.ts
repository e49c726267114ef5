import { type Tables } from "../tables/names.js";

// Append only, as the migrations that have these steps.

/** Completed payments that their orders did not get. `prune` asks which webhooks a person has settled. */
export const withheldStep = (t: Tables): string[] => [
  `alter table ${t.payments} add column withheld text`,
  `create index ${t.resolutions}_receipt on ${t.resolutions} (receipt_id) where receipt_id is not null`,
];

/** What a person has to see, so that it is found in the order of its time. It replaces the index of the webhooks that wait. */
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

/** Marks what a person has to see of what was stored before. */
export const markedNeeds = (t: Tables): string[] => [
  `update ${t.payments} set attention = case when withheld = 'unsettled' then 'paid_other_amount'
      when state = 'uncertain' or state = 'creating' and overdue_at is not null then 'creation_uncertain'
      when state = 'pending' and overdue_at is not null then 'overdue' end
    where withheld = 'unsettled' or state in ('uncertain', 'creating', 'pending')`,
  `update ${t.webhooks} set attention = case outcome when 'mismatch' then 'mismatched' else outcome end
    where parked = 1 or outcome in ('mismatch', 'inadmissible')
      and receipt_id not in (select receipt_id from ${t.resolutions} where receipt_id is not null)`,
];
