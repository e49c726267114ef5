export default { serverExternalPackages: ["tillkit"] };
