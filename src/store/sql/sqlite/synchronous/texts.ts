import { type Dialect } from "../../dialect.js";
import { type Tables } from "../../tables/names.js";

/**
 * Texts of statements for some tables, put together once: to do so for every transaction, and to look for what is not the
 * same text but one like it among the prepared statements, was a tenth of a lone webhook's time.
 */
export function textsOf<Texts>(
  write: (tables: Tables, dialect: Dialect) => Texts,
): (tables: Tables, dialect: Dialect) => Texts {
  const written = new WeakMap<Tables, Texts>();
  return (tables, dialect) => {
    let texts = written.get(tables);
    if (!texts) written.set(tables, (texts = write(tables, dialect)));
    return texts;
  };
}
