export { csvReport } from "./csv-report.js";
export { htmlReport, type HtmlReportOptions } from "./html-report.js";
export { jsonReport } from "./json-report.js";
export { type StatementReport } from "./report.js";
