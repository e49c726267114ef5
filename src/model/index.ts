export {
  type Difference,
  type EventMap,
  type EventType,
  eventTypes,
  type LastAsked,
  type NoticeMap,
  type NoticeType,
  type Reported,
  type TillkitEvent,
} from "./event-map.js";
export { type ReportedFields, type Untrusted, type Verified } from "./payment-report.js";
