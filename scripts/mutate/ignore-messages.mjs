// Leaves out of the mutation tests what is said to people, as in errors, logs and warnings: strings with two spaces or more. No
// test is about their wording.
export const strykerPlugins = [
  {
    kind: "Ignore",
    name: "messages",
    value: {
      shouldIgnore({ node }) {
        return isSentence(node) ? "a sentence for people" : undefined;
      },
    },
  },
];

function isSentence(node) {
  if (node.type !== "StringLiteral" && node.type !== "TemplateLiteral") return false;
  const text = node.value ?? node.quasis.map(({ value }) => value.raw).join("x");
  return /^\S+ +\S+ +\S/.test(text);
}
