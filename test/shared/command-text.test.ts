import { optionText, withOperand } from "../../src/shared/command-text.js";

it.each([
  ["50", "--limit 50"],
  ["-5", "--limit=-5"],
  ["'-a b'", "--limit='-a b'"],
])("an option with the value %s is not read as two options", (value, expected) => {
  expect(optionText("--limit", value)).toBe(expected);
});

it.each([
  ["c-1", "--by Amina", "tillkit find c-1 --by Amina"],
  ["c-1", "", "tillkit find c-1"],
  ["-c1", "--by Amina", "tillkit find --by Amina -- -c1"],
  ["'-c 1'", "", "tillkit find -- '-c 1'"],
])("the operand %s with the options %j is not read as an option", (operand, options, expected) => {
  expect(withOperand("tillkit find", operand, options)).toBe(expected);
});
