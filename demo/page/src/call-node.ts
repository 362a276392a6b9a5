const TIMEOUT_MS = 10_000;

/** Calls a method of a chain's node. Throws if the node returns an error or no result. */
export async function callNode<Result>(url: string, method: string, params: unknown[]): Promise<Result> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const { result, error } = (await response.json()) as { result?: Result; error?: { message: string } };
  if (result === undefined) throw new Error(error?.message ?? `${method} failed`);
  return result;
}
