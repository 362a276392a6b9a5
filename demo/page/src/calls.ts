import type { Call } from '@causeway/sdk';
import { createStore, useStore } from './store.ts';

export type LoggedCall = Call & { id: number; at: Date };

const KEPT = 200;
const store = createStore<readonly LoggedCall[]>([]);
let last = 0;

/** Every attempt of the SDK's client, newest first, for the developer drawer. */
export function logCall(call: Call): void {
  const logged = { ...call, id: ++last, at: new Date() };
  store.set([logged, ...store.get()].slice(0, KEPT));
}

export function clearCalls(): void {
  store.set([]);
}

export function useCalls(): readonly LoggedCall[] {
  return useStore(store);
}

/** What to paste into a shell. The token is left to the reader: a copied one would travel. */
export function toCurl(call: Pick<Call, 'method' | 'path' | 'requestBody'>, baseUrl: string): string {
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  return [
    `curl ${call.method === 'GET' ? '' : `-X ${call.method} `}${quote(baseUrl + call.path)}`,
    `-H "Authorization: Bearer $TOKEN"`,
    ...(call.requestBody === undefined
      ? []
      : [`-H 'content-type: application/json'`, `-d ${quote(JSON.stringify(call.requestBody))}`]),
  ].join(' \\\n  ');
}
