/**
 * The code of every error, refused webhook and finding at the start, each with its fix. Codes are public API:
 * a new version may add codes, but never renames a code. A test compares this list with `docs/errors.md`.
 */
export const errorFixes = {
  // Configuration: the kit does not start.
  configuration_invalid: "Fix every problem in the error's `problems`; the list is complete.",
  option_missing: "Set the option, or the environment variable that the message names.",
  option_invalid: "Give the option a value of the form that the message names.",
  secret_missing: "Set the webhook secret. Verification cannot be switched off.",
  secret_too_short:
    "Use the secret exactly as the service issued it: an attacker can guess a secret of fewer than 16 bytes.",
  secret_placeholder: "Replace the placeholder with the secret that the service issued.",
  key_invalid:
    "Give the service's public key as PEM text or a KeyObject that matches the configured algorithm.",
  signature_coverage_too_small: "Sign at least id, clientId, status, total.value and total.currency.",
  signed_field_unknown:
    "Use string fields from sections 6.1 and 2.3 of the interface document, each field once.",
  sandbox_credential_in_production: "Replace the sandbox_ secret or token with the real service's.",
  store_not_durable: "In production, use sqliteStore, postgresStore, mysqlStore or your own durable store.",
  handler_name_taken: "Give the second handler of an event its own `name`.",

  // A webhook that is refused before anything is recorded.
  method_not_allowed: "Send webhooks with POST, and open the return addresses with GET or HEAD.",
  content_type_unsupported: "Send the webhook as JSON instead of a form.",
  content_encoding_unsupported: "Send the webhook without a content-encoding.",
  body_too_large: "Raise `webhook.limitBytes` if the service really sends larger webhooks.",
  body_incomplete:
    "The sender closed the connection before the whole body arrived, and may send the webhook again.",
  body_timeout:
    "The sender was slower than `webhook.bodyTimeoutMs`; raise this limit only if the service is really slow.",
  raw_body_consumed:
    "Mount the payment router before the JSON parser, or pass `verify: captureRawBody` to that parser.",
  signature_missing: "The request has no signature header; send only the service's webhooks to this address.",
  signature_malformed: "The signature header must be one hexadecimal string of the right length.",
  signature_mismatch:
    "Most likely the secret is not the service's. Start the app with TILLKIT_KEEP_REFUSED=./refused, and let the " +
    "service send the webhook again. Then `npx tillkit verify --last --kept ./refused --env-file .env` names the " +
    "cause.",
  signature_check_failed: "Fix the signature scheme, which threw the error in the message.",
  signed_fields_unreadable: "The signed fields must be plain strings in a strict JSON body.",
  record_unavailable: "Neither the store nor the spool could keep the webhook; fix the store.",

  // Creating a payment.
  reference_invalid: "Use a reference of 1 to 200 characters without control characters, but not only dots.",
  amount_invalid: 'Give total.value as a decimal string such as "1475" or "10.50", above zero.',
  currency_invalid: "Give total.currency as three capital letters of ISO 4217.",
  client_id_invalid: "Use 1 to 64 characters of A-Z a-z 0-9 . _ : - as clientId.",
  client_id_taken:
    "Every payment needs its own clientId. If you leave the clientId out, the kit generates one.",
  metadata_invalid: "Give metadata as plain JSON of at most 4 KiB.",
  locale_invalid: 'Give locale as a language tag such as "fr" or "en-GB".',
  already_paid: "The reference has a completed payment; do not collect the money again.",
  paid_other_amount:
    "An earlier attempt of the reference was paid with another amount. Accept or refund it with payments.resolve.",
  creation_timeout:
    "The service did not answer in time. The payment may exist, and the kit can still match its webhooks.",
  creation_unreachable: "Check service.baseUrl, the name resolution, the network and the firewall.",
  creation_refused: "The service refused the payment; the error contains the service's message.",
  creation_failed: "The service failed. The payment may exist, and the kit can still match its webhooks.",
  creation_response_invalid:
    "The service's answer does not have the form of section 2.2 of the interface document.",
  creation_unrecorded:
    "The store failed after the service had created the payment. The kit can still match the payment's webhooks. See " +
    "the error's cause.",
  creation_pending_elsewhere: "Another call is still creating this payment; try again after a moment.",
  access_token_unavailable: "Check the token address and the client's credentials.",
  access_token_refused: "The service refused the access token; check the credentials.",

  // Asking the service about payments.
  lookup_failed:
    "Fix the problem in the message. The kit asks again at the next planned lookup of the payment, if there is one.",
  lookup_answer_invalid:
    "Compare the service's answer with sections 2.1 and 2.3 of the interface document; nothing was recorded.",

  // Taking over and settling payments.
  service_id_invalid:
    "Give serviceId exactly as the service wrote it, with 1 to 128 characters, or leave serviceId out.",
  service_id_taken:
    "The service's id belongs to another stored payment; find out which of the two ids is wrong.",
  adoption_conflict:
    "Compare the stored payment with your payment: the stored payment has another reference, amount or service id.",
  resolution_invalid:
    "Give the payment or webhook, the action, the person and the reason, as the message says.",
  resolution_not_possible:
    "Look at the payment's history; the payment or webhook cannot be settled in this way, or is settled already.",
  evidence_missing: "Give `evidence`: a row of a statement, an answer of the service, or a letter.",
  evidence_invalid: "Give evidence of the form that the message names.",
  evidence_mismatch:
    "Check which payment the evidence shows. The evidence must have this payment's ids and amount.",
  query_invalid: "Give conditions of the form that the message names.",
  backup_unsupported: "Copy the database with the database's own tool.",

  // The store and the handlers.
  transaction_poisoned:
    "A statement failed, so the transaction was rolled back; do not catch and ignore the statement's error.",
  transaction_closed: "Await every statement before the handler resolves.",
  transaction_control_refused:
    "Use plain BEGIN, COMMIT, ROLLBACK and savepoints in a handler, without an isolation level, a stream or a cursor.",
  lease_lost:
    "Another process took over the dispatch, or the dispatch was retired; this run was rolled back.",
  handler_timeout: "The handler ran longer than `handlerTimeoutMs`; watch `signal` and finish sooner.",
  transaction_hangs:
    "Let the store's `transaction` settle when its callback settles, even on a dead connection. Do not wait until " +
    "the connection is released.",
  handler_crashed_often: "The process ended each time this handler ran; see `dispatch.dead`.",
  handler_registered:
    "Remove the handler from the code first, or retire the name with `tillkit handlers retire`.",
  handler_unknown: "Use one of the names that the message lists; `tillkit handlers list` shows all names.",
  store_conflict: "A value that must be unique is taken; the transaction was rolled back.",
  store_busy: "The database was locked until the deadline passed.",
  store_unavailable: "Start the database, or correct the database's address and permissions.",
  adapter_defective:
    "Change the adapter as the message says; `npx tillkit exam` examines each operation of the adapter.",
  store_closed: "The store was closed; make no calls after close().",
  backup_refused:
    "Name a file that does not exist yet, or use the database's own tool that the message names.",
  backup_failed: "Fix the problem in the message; no file with the backup's name was left.",
  schema_too_new: "A newer tillkit made the tables; upgrade this process.",
  path_exposed:
    "Name a real path instead of a link, give the path to the process's user (chown), and do not let all users write " +
    "to the path (chmod o-w).",
  driver_missing:
    "Install the database driver that the message names, and leave @photostructure/sqlite out of a bundle.",
  database_refused:
    "Use PostgreSQL, MySQL, MariaDB or SQLite, because this server accepts the kit's locks but does not hold them.",
  database_unexamined:
    "Run the exam on this database first: `npx tillkit exam --store <address>`, or with TILLKIT_DATABASE. See " +
    "docs/stores.md.",
  pool_too_small:
    "Give the pool at least `dispatch.concurrency` + 4 connections, or set a smaller `dispatch.concurrency`.",
  sqlite_version_affected:
    "Upgrade SQLite to 3.51.3, 3.50.7 or 3.44.6. Until then, the kit uses the rollback journal.",
  replication_asynchronous:
    "Make commits wait for a standby: with synchronous_standby_names on PostgreSQL, or with semi-synchronous " +
    "replication on MySQL.",

  // The spool.
  spool_full:
    "Free disk space, raise the spool's `maxBytes`, or fix the store so that the spool can be drained.",
  store_went_back:
    "With payments.compareStatement, compare the service's statement for the time since the copy was made: see " +
    "docs/backup.md.",
  spool_unavailable: "Let the process write to the spool's directory, or name another directory.",
  spool_record_unreadable:
    "Look at the file that was set aside. The file changed on the disk, or this directory's spool did not write the file.",

  // The sandbox.
  sandbox_misused:
    "Change the call as the message says, because the sandbox's present state does not allow this call.",
  scenario_file_invalid: "Fix the fields that the message names; docs/sandbox.md lists every field.",

  // A statement.
  statement_unreadable: "Save the statement as CSV in UTF-8, or name the statement's encoding.",
  statement_columns_unclear:
    "Name the header or the number of each column; see `docs/statement.md`. On the command line: --column, and --no-header.",
  statement_period_missing:
    "Give the period of the statement (--from and --to), or map the column with the time (--column).",

  // The command line.
  command_unknown: 'See "tillkit help" for the commands.',
  command_option_unknown: 'See "tillkit help <command>" for the command\'s options.',
  command_option_invalid: "Give the option as the message says.",
  command_operand_invalid: "Give the command the operands that its usage line shows.",
  file_unreadable: "Name a file that exists and that this user may read.",
  file_unwritable: "Name a file in a folder that exists and that this user may write to.",
} as const;

/** The stable code of an error. {@link errorFixes} contains the fix for each code. */
export type ErrorCode = keyof typeof errorFixes;

/** The codes of refused webhooks, each with the HTTP status of the response. */
export const rejectionStatus = {
  method_not_allowed: 405,
  content_type_unsupported: 415,
  content_encoding_unsupported: 415,
  body_too_large: 413,
  body_incomplete: 400,
  body_timeout: 408,
  raw_body_consumed: 500,
  signature_missing: 401,
  signature_malformed: 401,
  signature_mismatch: 401,
  signature_check_failed: 401,
  signed_fields_unreadable: 400,
  record_unavailable: 503,
} as const satisfies Partial<Record<ErrorCode, number>>;

/** The code of the reason why a webhook was refused. */
export type RejectionCode = keyof typeof rejectionStatus;
