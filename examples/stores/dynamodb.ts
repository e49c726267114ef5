// A store in one table of DynamoDB, with the partition key `part` and the sort key `key`. Both are strings.
import { type TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import * as aws from "@aws-sdk/lib-dynamodb";
import { type BatchAdapter, type StoredRecord, TillkitError } from "tillkit";

type Write = NonNullable<aws.TransactWriteCommandInput["TransactItems"]>[number];
/** The first segment of a key is the partition. */
const at = (key: string) => ({ part: key.split("/", 1).join(), key });

export function dynamodbAdapter(client: aws.DynamoDBDocument, TableName: string): BatchAdapter<Write> {
  const consistent = { TableName, ConsistentRead: true };
  const absent = { TableName, ConditionExpression: "attribute_not_exists(part)" };
  const unchanged = { TableName, ConditionExpression: "version = :version" };
  const expected = (version: number) =>
    version === 0 ? absent : { ...unchanged, ExpressionAttributeValues: { ":version": version } };
  return {
    durable: true,
    maxChanges: 100,
    async read(keys) {
      const RequestItems = { [TableName]: { Keys: keys.map(at), ConsistentRead: true } };
      const found: unknown[] = [];
      for await (const { Responses } of aws.paginatedBatchGet({ client }, { RequestItems }))
        found.push(...(Responses?.[TableName] ?? []));
      return found as StoredRecord[];
    },
    async scan({ from, to, limit, reverse }) {
      const found: StoredRecord[] = [];
      const range = {
        // BETWEEN includes the end of the range.
        KeyConditionExpression: "part = :part AND #key BETWEEN :from AND :to",
        ExpressionAttributeNames: { "#key": "key" },
        ExpressionAttributeValues: { ":part": at(from).part, ":from": from, ":to": to },
        ScanIndexForward: !reverse,
      };
      const pages = aws.paginateQuery({ client, pageSize: limit + 1 }, { ...consistent, ...range });
      for await (const { Items = [] } of pages) {
        found.push(...(Items as StoredRecord[]).filter(({ key }) => key < to));
        if (found.length >= limit) break;
      }
      return found.slice(0, limit);
    },
    async write(changes, writes) {
      const own = changes.map(({ key, version, value }): Write => {
        if (value === null) return { Delete: { ...expected(version), Key: at(key) } };
        return { Put: { ...expected(version), Item: { ...at(key), value, version: version + 1 } } };
      });
      try {
        // The client tries again with one token: a write whose answer was lost is not made twice.
        await client.transactWrite({ TransactItems: [...own, ...writes] });
        return true;
      } catch (error) {
        const { CancellationReasons: reasons = [] } = error as Partial<TransactionCanceledException>;
        const failed = reasons.findIndex(({ Code }) => Code === "ConditionalCheckFailed");
        if (failed in own || reasons.some(({ Code }) => Code === "TransactionConflict")) return false;
        throw failed < 0 ? error : new TillkitError("store_conflict", "A condition of the handler failed.");
      }
    },
  };
}
