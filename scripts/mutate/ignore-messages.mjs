// Leaves out of the mutation tests what is said to people: the messages of errors, and log lines. No test is about their wording.
export const strykerPlugins = [
  {
    kind: "Ignore",
    name: "messages",
    value: {
      shouldIgnore({ node, parent, key, listKey }) {
        if (node.type !== "StringLiteral" && node.type !== "TemplateLiteral") return undefined;
        const { type, callee } = parent ?? {};
        const isError = type === "NewExpression" && (callee.name ?? "").endsWith("Error");
        // A code is a single word; a message has spaces.
        if (isError && listKey === "arguments" && isSentence(node)) return "the message of an error";
        if (type === "VariableDeclarator" && key === "init" && isSentence(node))
          return "a sentence for people";
        return undefined;
      },
    },
  },
];

function isSentence(node) {
  return node.type === "TemplateLiteral" || node.value.includes(" ");
}
