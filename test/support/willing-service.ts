/** The body of a creation request. */
export interface Creation {
  purchase: { total: { value: string; currency: string } };
  clientId: string;
  successUrl: string;
  cancelUrl: string;
}

/** The payment in the service's answer. */
export type Data = Record<string, unknown>;

/** Returns a service that creates every requested payment, without a network. `change` may change its answers. */
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
