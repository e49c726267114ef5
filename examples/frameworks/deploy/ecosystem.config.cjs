// pm2 start ecosystem.config.cjs, and later: pm2 reload shop
module.exports = {
  apps: [
    {
      name: "shop",
      script: "server.mjs",
      exec_mode: "cluster",
      instances: 2,
      // A reload ends an old process only when the new one has said "ready".
      wait_ready: true,
      listen_timeout: 30_000,
      // PM2 kills after 1.6 seconds otherwise: close() waits for handlers that run.
      kill_timeout: 60_000,
    },
  ],
};
