/** What the kit sends to create a payment. */
export interface Creation {
  purchase: { total: { value: string; currency: string } };
  clientId: string;
  successUrl: string;
  cancelUrl: string;
}

/** The payment in the service's answer. */
export type Data = Record<string, unknown>;

/** A service that makes every payment it is asked for, without a network; `change` has the last word on its answers. */
export function willingService(change: (data: Data) => Data = (data) => data) {
  const sent: Creation[] = [];
  const fetch = async (_address: unknown, { body }: RequestInit = {}): Promise<Response> => {
    const creation = JSON.parse(body as string) as Creation;
    sent.push(creation);
    const submitUrl = `https://pay.invalid/payment/submit/${sent.length}`;
    const { purchase } = creation;
    const data = change({ id: `s-${sent.length}`, status: "pending", purchase, billing: { submitUrl } });
    return Response.json({ next: submitUrl, data }, { status: 201 });
  };
  return { sent, options: { baseUrl: "https://pay.invalid", accessToken: "a-token", fetch } };
}
