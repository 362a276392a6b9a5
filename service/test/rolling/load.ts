import { Agent, request } from 'undici';

export type Credentials = { client_id: string; client_secret: string };
export type Load = { requests: number; failures: string[] };

const CLIENTS = 6;

/**
 * Sends requests on keep-alive connections until `stop` resolves: requests for new tokens, which no proxy may repeat,
 * and reads with those tokens, including the oldest token of each client.
 */
export async function sendLoad(
  url: string,
  credentials: () => Credentials,
  stop: Promise<unknown>,
): Promise<Load> {
  const load: Load = { requests: 0, failures: [] };
  const dispatcher = new Agent({ connections: CLIENTS, keepAliveTimeout: 30_000 });
  let isRunning = true;
  void stop.finally(() => {
    isRunning = false;
  });
  const send = async (method: 'GET' | 'POST', path: string, token: string | null, body: object | null) => {
    load.requests++;
    try {
      const reply = await request(url + path, {
        method,
        dispatcher,
        headers: {
          ...(token !== null && { authorization: `Bearer ${token}` }),
          ...(body !== null && { 'content-type': 'application/json' }),
        },
        ...(body !== null && { body: JSON.stringify(body) }),
      });
      const answer = (await reply.body.json()) as { access_token: string; code?: string };
      if (reply.statusCode === 200) return answer.access_token;
      load.failures.push(`${method} ${path}: ${reply.statusCode} ${answer.code ?? ''}`);
    } catch (error) {
      load.failures.push(`${method} ${path}: ${error}`);
    }
    return null;
  };
  const newToken = () =>
    send('POST', '/oauth/token', null, { grant_type: 'client_credentials', ...credentials() });
  const client = async () => {
    const first = await newToken();
    while (isRunning) {
      for (const token of [first, await newToken()])
        for (const path of ['/v1/offers', '/v1/participations', '/v1/offers?limit=1'])
          await send('GET', path, token, null);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  await dispatcher.close();
  return load;
}
