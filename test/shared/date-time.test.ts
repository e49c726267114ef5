import { fc } from "../support/property.js";
import { isDateTime, offsetMsOf, sortableTime } from "../../src/shared/date-time.js";

describe("isDateTime", () => {
  it.each([
    "2026-03-01T10:00:00.000Z",
    "2026-03-01T10:00:00Z",
    "2026-03-01t10:00:00z",
    "2026-03-01T10:00:00.123456789+03:00",
    "2026-03-01T10:00:00-00:00",
    "2024-02-29T00:00:00Z",
    "2000-02-29T00:00:00Z",
    "2016-12-31T23:59:60Z",
  ])("accepts %s", (text) => {
    expect(isDateTime(text)).toBe(true);
  });

  it.each([
    "2026-02-30T10:00:00Z",
    "2026-02-29T10:00:00Z",
    "1900-02-29T10:00:00Z",
    "2026-04-31T10:00:00Z",
    "2026-00-10T10:00:00Z",
    "2026-13-10T10:00:00Z",
    "2026-03-00T10:00:00Z",
    "2026-03-01T24:00:00Z",
    "2026-03-01T10:60:00Z",
    "2026-03-01T10:00:60Z",
    "2026-03-01T10:00:61Z",
    "2026-03-01T10:00:00",
    "2026-03-01T10:00Z",
    "2026-03-01 10:00:00Z",
    "2026-03-01",
    "20260301T100000Z",
    "2026-03-01T10:00:00.Z",
    "2026-03-01T10:00:00,5Z",
    "2026-03-01T10:00:00+0300",
    "2026-03-01T10:00:00+24:00",
    "2026-03-01T10:00:00Z\n",
    "+002026-03-01T10:00:00Z",
    "٢٠٢٦-03-01T10:00:00Z",
    "",
  ])("does not accept %j", (text) => {
    expect(isDateTime(text)).toBe(false);
  });

  it("accepts every time that Date.toISOString prints", () => {
    const date = fc.date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true });
    fc.assert(fc.property(date, (at) => expect(isDateTime(at.toISOString())).toBe(true)));
  });

  it("accepts a day exactly if the calendar has it", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9999 }), fc.nat(14), fc.nat(33), (year, month, day) => {
        const [y, m, d] = [
          String(year).padStart(4, "0"),
          String(month).padStart(2, "0"),
          String(day).padStart(2, "0"),
        ];
        const real = new Date(0);
        real.setUTCFullYear(year, month - 1, day);
        const exists = month >= 1 && real.getUTCMonth() === month - 1 && real.getUTCDate() === day;
        expect(isDateTime(`${y}-${m}-${d}T00:00:00Z`)).toBe(exists);
      }),
      { numRuns: 1000 },
    );
  });
});

it.each([
  ["2026-03-01T10:00:00Z", 0],
  ["2026-03-01t10:00:00z", 0],
  ["2026-03-01T10:00:00+03:00", 10_800_000],
  ["2026-03-01T10:00:00-03:30", -12_600_000],
  ["2026-03-01T10:00:00.5+00:15", 900_000],
])("the offset of %s is %d ms", (text, offsetMs) => {
  expect(offsetMsOf(text)).toBe(offsetMs);
});

it.each([
  [Date.parse("2026-03-01T10:00:00.000Z"), "2026-03-01T10:00:00.000Z"],
  [8.64e15, "9999-12-31T23:59:59.999Z"],
  [-8.64e15, "0000-01-01T00:00:00.000Z"],
])("the time of %d ms is stored as %s, with a year of four digits", (ms, expected) => {
  expect(sortableTime(new Date(ms))).toBe(expected);
});
