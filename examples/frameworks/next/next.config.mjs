// The kit stays outside of the bundle. Node loads it, with the driver of the database.
export default { serverExternalPackages: ["tillkit"] };
