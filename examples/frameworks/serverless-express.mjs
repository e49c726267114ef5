// A function of AWS Lambda, through @codegenie/serverless-express.
import serverlessExpress from "@codegenie/serverless-express";
import { app } from "./express-app.mjs";

export const handler = serverlessExpress({ app });
