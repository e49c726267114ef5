import { translate } from "../../pages/language.js";

/** Every text of the report, by language. */
export const translations = translate({
  title: ["Statement and books", "Relevé et livres"],
  agreed: ["Everything agrees", "Tout concorde"],
  differences: (count: number) => [
    count === 1 ? "difference" : "differences",
    count === 1 ? "écart" : "écarts",
  ],
  badRows: (count: number) => [
    count === 1 ? "unreadable row" : "unreadable rows",
    count === 1 ? "ligne illisible" : "lignes illisibles",
  ],
  agreedDetail: (matched: string) => [
    `${matched} payments are the same on the statement and in your books.`,
    `${matched} paiements sont identiques sur le relevé et dans vos livres.`,
  ],
  differsDetail: (matched: string, rows: string) => [
    `${matched} of ${rows} rows are the same on both sides. This report lists the other rows.`,
    `${matched} lignes sur ${rows} sont identiques des deux côtés. Le reste est détaillé ci-dessous.`,
  ],
  period: ["Period", "Période"],
  madeAt: ["Made", "Établi"],
  statement: ["Statement", "Relevé"],
  stored: ["Your books", "Vos livres"],
  gap: ["Statement minus books:", "Relevé moins livres\u00a0:"],
  byCurrency: ["Money by currency", "Montants par devise"],
  byChannel: ["Provider channels", "Canaux des prestataires"],
  byKind: ["What differs", "Les écarts"],
  nothingFound: ["Nothing differs.", "Aucun écart."],
  sum: ["Sum", "Somme"],
  channel: ["Channel", "Canal"],
  noChannel: ["(none)", "(aucun)"],
  otherChannels: ["(all others)", "(tous les autres)"],
  matched: ["Matched", "Concordants"],
  differing: ["Differing", "En écart"],
  share: ["Share", "Part"],
  line: ["Line", "Ligne"],
  payment: ["Payment", "Paiement"],
  difference: ["Difference", "Écart"],
  problem: ["What is wrong", "Ce qui ne va pas"],
  other: ["Other", "Autre"],
  more: (count: string) => [
    `The CSV and JSON reports list ${count} more.`,
    `${count} autres figurent dans les rapports CSV et JSON.`,
  ],
  read: ["rows read", "lignes lues"],
  unpaid: ["unpaid on both sides", "impayées des deux côtés"],
  foreign: ["of another shop", "d’une autre boutique"],
  outsidePeriod: ["dated outside of the period", "datées hors de la période"],
  completed: ["completed in your books", "terminés dans vos livres"],
  titles: {
    missing_here: ["Missing in your books", "Absents de vos livres"],
    missing_there: ["Missing on the statement", "Absents du relevé"],
    unmatched_row: ["Rows that match no payment, or several payments", "Lignes sans paiement certain"],
    id_differs: ["Ids of different payments", "Identifiants de paiements différents"],
    currency_differs: ["Other currency", "Autre devise"],
    amount_differs: ["Other amount", "Autre montant"],
    unpaid_here: ["Open in your books", "Ouverts dans vos livres"],
    unpaid_there: ["Unpaid on the statement", "Impayés sur le relevé"],
    withheld: ["Paid with an earlier amount", "Payés d’un ancien montant"],
    listed_twice: ["Listed twice", "Inscrits deux fois"],
    paid_twice: ["Paid twice", "Payés deux fois"],
    refund_missing_here: ["Refunds that are not in your books", "Remboursements absents de vos livres"],
    fee_differs: ["Fees that differ", "Frais qui ne tombent pas juste"],
    payout_differs: ["Payouts that differ", "Virements qui ne tombent pas juste"],
    bad_row: ["Rows that could not be read", "Lignes illisibles"],
    at_edge: ["At the edge of the period", "Au bord de la période"],
    accepted_here: ["Accepted by a person", "Acceptés par une personne"],
  },
  advice: {
    missing_here: [
      "The statement has these payments, but your books do not. Adopt each payment, or find the payment's owner.",
      "Le relevé contient ces paiements, vos livres non. Reprenez-les, ou cherchez à qui ils sont.",
    ],
    missing_there: [
      "These payments are completed in your books. Look at the neighbouring statement, then ask the service.",
      "Ils sont terminés dans vos livres. Voyez le relevé voisin, puis demandez au service.",
    ],
    unmatched_row: [
      "These rows have no id. Write the clientId of the right payment into each row and compare again, or ask the service.",
      "Ces lignes sont sans identifiant. Inscrivez dans chacune le clientId du bon paiement et recommencez, ou demandez au service.",
    ],
    id_differs: [
      "The two ids of the row belong to different payments. Ask the service which payment was paid.",
      "Les deux identifiants de la ligne diffèrent. Demandez au service quel paiement a été payé.",
    ],
    currency_differs: [
      "These payments were paid in a currency that differs from the order's currency.",
      "Ils ont été payés dans une autre devise que celle de la commande.",
    ],
    amount_differs: [
      "The paid amount differs from the order's amount.",
      "Le montant payé n’est pas celui de la commande.",
    ],
    unpaid_here: [
      "The statement shows the money, but your books do not. Complete each payment with “tillkit resolve accept” and its row as the evidence.",
      "L’argent est arrivé, mais pas dans vos livres. Terminez chaque paiement avec « tillkit resolve accept » et sa ligne comme preuve.",
    ],
    unpaid_there: [
      "The order may have been delivered, but the statement shows no money for the order.",
      "La commande a peut-être été livrée, et le relevé n’a pas d’argent pour elle.",
    ],
    withheld: [
      "You requested another amount later, so these payments do not fulfil the order. Accept or refund each payment with “tillkit resolve”.",
      "Un autre montant était attendu ensuite : la commande ne les a pas reçus. Acceptez ou remboursez chacun avec « tillkit resolve ».",
    ],
    listed_twice: [
      "The statement lists these payments more than once. Ask the service whether you were credited twice.",
      "Le relevé les inscrit plusieurs fois. Demandez au service si vous avez été crédité deux fois.",
    ],
    paid_twice: [
      "Another payment of the same order was paid before. Pay one of the two payments back.",
      "Un autre paiement de la commande avait été payé avant. L’un des deux est à rembourser.",
    ],
    refund_missing_here: [
      "The money went back to the customer. Record each refund with “tillkit payments refund” and the refund's key from the CSV report.",
      "L’argent est reparti. Notez chacun avec « tillkit payments refund », avec sa clé du rapport CSV.",
    ],
    fee_differs: [
      "The gross amount minus the fee is not the row's net amount. Ask the service.",
      "Le brut moins les frais n’est pas le net de la ligne. Demandez au service.",
    ],
    payout_differs: [
      "The payout differs from the sum of its rows' net amounts. Ask the service.",
      "Le virement n’est pas la somme des nets de ses lignes. Demandez au service.",
    ],
    bad_row: [
      "These rows were not compared. Correct the rows, and compare the statement again.",
      "Elles n’ont pas été comparées. Corrigez-les, puis recommencez.",
    ],
    at_edge: [
      "These payments were completed near the start or the end of the period, and may be on the neighbouring statement.",
      "Terminés près d’une fin de la période, ils figurent peut-être sur le relevé voisin.",
    ],
    accepted_here: [
      "A person accepted, adopted or replayed them in the period. They are on the statement of the day on which they were paid.",
      "Une personne les a acceptés, repris ou rejoués pendant la période. Ils figurent sur le relevé du jour de leur paiement.",
    ],
  },
});
