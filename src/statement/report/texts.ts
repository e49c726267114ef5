import { type DifferenceKind, type FindingKind } from "../finding.js";

/** Languages of the report. */
export type ReportLanguage = "en" | "fr";

interface KindText {
  title: string;
  /** What it means, and what to do. */
  advice: string;
}

interface ReportTexts {
  title: string;
  agreed: string;
  differs: (differences: number, bad: number, show: (count: number) => string) => string;
  agreedDetail: (matched: string) => string;
  differsDetail: (matched: string, rows: string) => string;
  period: string;
  madeAt: string;
  statement: string;
  books: string;
  gap: string;
  byCurrency: string;
  byChannel: string;
  byKind: string;
  nothingFound: string;
  sum: string;
  channel: string;
  noChannel: string;
  otherChannels: string;
  matched: string;
  differing: string;
  share: string;
  line: string;
  payment: string;
  reference: string;
  difference: string;
  problem: string;
  other: string;
  more: (count: string) => string;
  counted: { read: string; unpaid: string; foreign: string; outsidePeriod: string; books: string };
  kinds: Record<FindingKind, KindText>;
  rows: Record<Exclude<DifferenceKind, "paid_twice"> | "matched", string>;
}

export const reportTexts: Readonly<Record<ReportLanguage, ReportTexts>> = {
  en: {
    title: "Statement and books",
    agreed: "Everything agrees",
    differs: (differences, bad, show) =>
      listed(
        [differences, differences === 1 ? "difference" : "differences"],
        [bad, bad === 1 ? "unreadable row" : "unreadable rows"],
        show,
      ),
    agreedDetail: (matched) => `${matched} payments are the same on the statement and in the books.`,
    differsDetail: (matched, rows) =>
      `${matched} of ${rows} rows are the same on both sides. The rest is listed below.`,
    period: "Period",
    madeAt: "Made",
    statement: "Statement",
    books: "Books",
    gap: "Statement minus books:",
    byCurrency: "Money by currency",
    byChannel: "Provider channels",
    byKind: "What differs",
    nothingFound: "Nothing differs.",
    sum: "Sum",
    channel: "Channel",
    noChannel: "(none)",
    otherChannels: "(all others)",
    matched: "Matched",
    differing: "Differing",
    share: "Share",
    line: "Line",
    payment: "Payment",
    reference: "Order",
    difference: "Difference",
    problem: "What is wrong",
    other: "Other",
    more: (count) => `${count} more are in the CSV and JSON reports.`,
    counted: {
      read: "rows read",
      unpaid: "unpaid on both sides",
      foreign: "of another shop",
      outsidePeriod: "dated outside of the period",
      books: "completed in the books",
    },
    kinds: {
      missing_here: {
        title: "Missing in the books",
        advice:
          "The statement has these payments, and the books do not know them. Take them over, or find out whose they are.",
      },
      missing_there: {
        title: "Missing on the statement",
        advice:
          "The books have these as completed, and the statement does not name them. Look at the neighbouring statement, then ask the service.",
      },
      id_differs: {
        title: "Ids of different payments",
        advice: "The two ids of the row do not belong to one payment. Ask the service which one was paid.",
      },
      currency_differs: {
        title: "Other currency",
        advice: "It was paid in another currency than the order asked for.",
      },
      amount_differs: { title: "Other amount", advice: "What was paid is not what the order asked for." },
      unpaid_here: {
        title: "Paid, but open in the books",
        advice: "The money came, and the books do not know. The order may be waiting for it.",
      },
      unpaid_there: {
        title: "Completed in the books, unpaid on the statement",
        advice: "The order may have been delivered, and the statement has no money for it.",
      },
      listed_twice: {
        title: "Listed twice",
        advice:
          "The statement lists these payments once more. Ask the service whether you were credited twice.",
      },
      paid_twice: {
        title: "Paid twice",
        advice: "Another payment of the same order was paid before. One of the two is to be paid back.",
      },
      bad_row: {
        title: "Rows that could not be read",
        advice: "They were not compared. Mend them, and run it again.",
      },
      at_edge: {
        title: "At the edge of the period",
        advice:
          "Completed so near to an end of the period that they may stand on the neighbouring statement.",
      },
    },
    rows: {
      matched: "matched",
      missing_here: "missing in the books",
      missing_there: "missing on the statement",
      id_differs: "ids of different payments",
      currency_differs: "in another currency",
      amount_differs: "with another amount",
      unpaid_here: "open in the books",
      unpaid_there: "unpaid on the statement",
      listed_twice: "listed twice",
    },
  },
  fr: {
    title: "Relevé et livres",
    agreed: "Tout concorde",
    differs: (differences, bad, show) =>
      listed(
        [differences, differences === 1 ? "écart" : "écarts"],
        [bad, bad === 1 ? "ligne illisible" : "lignes illisibles"],
        show,
      ),
    agreedDetail: (matched) => `${matched} paiements sont identiques sur le relevé et dans les livres.`,
    differsDetail: (matched, rows) =>
      `${matched} lignes sur ${rows} sont identiques des deux côtés. Le reste est détaillé ci-dessous.`,
    period: "Période",
    madeAt: "Établi",
    statement: "Relevé",
    books: "Livres",
    gap: "Relevé moins livres\u00a0:",
    byCurrency: "Montants par devise",
    byChannel: "Canaux des prestataires",
    byKind: "Les écarts",
    nothingFound: "Aucun écart.",
    sum: "Somme",
    channel: "Canal",
    noChannel: "(aucun)",
    otherChannels: "(tous les autres)",
    matched: "Concordants",
    differing: "En écart",
    share: "Part",
    line: "Ligne",
    payment: "Paiement",
    reference: "Commande",
    difference: "Écart",
    problem: "Ce qui ne va pas",
    other: "Autre",
    more: (count) => `${count} autres figurent dans les rapports CSV et JSON.`,
    counted: {
      read: "lignes lues",
      unpaid: "impayées des deux côtés",
      foreign: "d’une autre boutique",
      outsidePeriod: "datées hors de la période",
      books: "terminés dans les livres",
    },
    kinds: {
      missing_here: {
        title: "Absents des livres",
        advice:
          "Le relevé contient ces paiements, et les livres ne les connaissent pas. Reprenez-les, ou cherchez à qui ils sont.",
      },
      missing_there: {
        title: "Absents du relevé",
        advice:
          "Les livres les ont comme terminés, et le relevé ne les nomme pas. Voyez le relevé voisin, puis demandez au service.",
      },
      id_differs: {
        title: "Identifiants de paiements différents",
        advice:
          "Les deux identifiants de la ligne ne sont pas ceux d’un seul paiement. Demandez au service lequel a été payé.",
      },
      currency_differs: {
        title: "Autre devise",
        advice: "Payés dans une autre devise que celle de la commande.",
      },
      amount_differs: {
        title: "Autre montant",
        advice: "Ce qui a été payé n’est pas ce que la commande demandait.",
      },
      unpaid_here: {
        title: "Payés, mais ouverts dans les livres",
        advice: "L’argent est arrivé, et les livres l’ignorent. La commande l’attend peut-être.",
      },
      unpaid_there: {
        title: "Terminés dans les livres, impayés sur le relevé",
        advice: "La commande a peut-être été livrée, et le relevé n’a pas d’argent pour elle.",
      },
      listed_twice: {
        title: "Inscrits deux fois",
        advice:
          "Le relevé inscrit ces paiements une fois de plus. Demandez au service si vous avez été crédité deux fois.",
      },
      paid_twice: {
        title: "Payés deux fois",
        advice: "Un autre paiement de la même commande avait été payé avant. L’un des deux est à rembourser.",
      },
      bad_row: {
        title: "Lignes illisibles",
        advice: "Elles n’ont pas été comparées. Corrigez-les, puis recommencez.",
      },
      at_edge: {
        title: "Au bord de la période",
        advice: "Terminés si près d’une fin de la période qu’ils peuvent figurer sur le relevé voisin.",
      },
    },
    rows: {
      matched: "concordants",
      missing_here: "absents des livres",
      missing_there: "absents du relevé",
      id_differs: "identifiants de paiements différents",
      currency_differs: "dans une autre devise",
      amount_differs: "avec un autre montant",
      unpaid_here: "ouverts dans les livres",
      unpaid_there: "impayés sur le relevé",
      listed_twice: "inscrits deux fois",
    },
  },
};

/** Those of two counts that are not nothing. */
function listed(
  first: readonly [number, string],
  second: readonly [number, string],
  show: (count: number) => string,
): string {
  const there = [first, second].filter(([count]) => count > 0);
  return there.map(([count, word]) => `${show(count)}\u00a0${word.replaceAll(" ", "\u00a0")}`).join(", ");
}
