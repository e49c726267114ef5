import { type Language } from "./translations.js";

export interface Product {
  id: string;
  /** Whole francs, because KMF has no decimals. A string, because the payment service requires one. */
  price: string;
  name: Record<Language, string>;
  about: Record<Language, string>;
}

export const products: readonly Product[] = [
  {
    id: "cloves",
    price: "1475",
    name: { en: "Cloves", fr: "Clous de girofle" },
    about: { en: "100 g, dried on the mat", fr: "100 g, séchés sur natte" },
  },
  {
    id: "vanilla",
    price: "3500",
    name: { en: "Vanilla", fr: "Vanille" },
    about: { en: "Six soft black pods", fr: "Six gousses noires et souples" },
  },
  {
    id: "ylang",
    price: "6250",
    name: { en: "Ylang-ylang oil", fr: "Huile d’ylang-ylang" },
    about: { en: "10 ml, first distillation", fr: "10 ml, première distillation" },
  },
  {
    id: "coconut",
    price: "500",
    name: { en: "Coconut", fr: "Noix de coco" },
    about: { en: "Green, opened for you", fr: "Verte, ouverte sur place" },
  },
  {
    id: "mango",
    price: "1800",
    name: { en: "Mango jam", fr: "Confiture de mangue" },
    about: { en: "250 g, with lime", fr: "250 g, au citron vert" },
  },
  {
    id: "basket",
    price: "12000",
    name: { en: "Palm basket", fr: "Panier en palme" },
    about: { en: "Woven by hand", fr: "Tressé à la main" },
  },
];

export function findProduct(id: unknown): Product | undefined {
  return products.find((product) => product.id === id);
}
