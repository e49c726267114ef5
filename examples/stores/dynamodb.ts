// A store in one table of DynamoDB, with the partition key `part` and the sort key `id`. Both are strings.
import * as aws from "@aws-sdk/client-dynamodb";
import { type BatchAdapter, type StoredRecord } from "tillkit";

type Item = Record<string, aws.AttributeValue>;
/** The first segment of a key is the partition. */
const at = (key: string) => ({ part: { S: key.split("/", 1).join() }, id: { S: key } });
const recordsOf = (items: readonly Item[] = []): StoredRecord[] =>
  items.map(({ id, json, version }) => ({
    key: String(id?.S),
    value: String(json?.S),
    version: Number(version?.N),
  }));

export function dynamodbAdapter(client: aws.DynamoDB, table: string): BatchAdapter<aws.TransactWriteItem> {
  const of = { TableName: table };
  const expected = (version: number) => {
    if (version === 0) return { ...of, ConditionExpression: "attribute_not_exists(id)" };
    const values = { ":version": { N: `${version}` } };
    return { ...of, ConditionExpression: "version = :version", ExpressionAttributeValues: values };
  };
  return {
    durable: true,
    maxChanges: 100,
    async read(keys) {
      const found: StoredRecord[] = [];
      let Keys: Item[] = keys.map(at);
      while (Keys.length > 0) {
        const page = await client.batchGetItem({ RequestItems: { [table]: { Keys, ConsistentRead: true } } });
        found.push(...recordsOf(page.Responses?.[table]));
        Keys = page.UnprocessedKeys?.[table]?.Keys ?? [];
      }
      return found;
    },
    async scan({ from, to, limit, reverse }) {
      const found: StoredRecord[] = [];
      // BETWEEN includes the end of the range.
      const KeyConditionExpression = "part = :part AND id BETWEEN :from AND :to";
      const ExpressionAttributeValues = { ":part": at(from).part, ":from": { S: from }, ":to": { S: to } };
      const range = { ...of, KeyConditionExpression, ExpressionAttributeValues };
      const order = { ConsistentRead: true, ScanIndexForward: !reverse };
      for await (const { Items } of aws.paginateQuery(
        { client, pageSize: limit + 1 },
        { ...range, ...order },
      )) {
        found.push(...recordsOf(Items).filter(({ key }) => key < to));
        if (found.length >= limit) break;
      }
      return found.slice(0, limit);
    },
    async write(changes, items) {
      const own = changes.map(({ key, version, value }): aws.TransactWriteItem => {
        if (value === null) return { Delete: { ...expected(version), Key: at(key) } };
        const Item = { ...at(key), json: { S: value }, version: { N: `${version + 1}` } };
        return { Put: { ...expected(version), Item } };
      });
      try {
        // The client tries again with one token: a write whose answer was lost is not made twice.
        await client.transactWriteItems({ TransactItems: [...own, ...items] });
        return true;
      } catch (error) {
        const { CancellationReasons = [] } = error as Partial<aws.TransactionCanceledException>;
        const codes = CancellationReasons.map(({ Code }) => Code);
        const isChanged = codes.slice(0, own.length).includes("ConditionalCheckFailed");
        if (isChanged || codes.includes("TransactionConflict")) return false;
        throw error;
      }
    },
  };
}
