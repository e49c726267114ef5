// Node loads the kit, outside of the bundle.
export default { serverExternalPackages: ["tillkit"] };
