import type { Call } from '@causeway/sdk';
import { createStore, useStore } from './store.ts';

export type LoggedCall = Call & { id: number; at: Date };

const MAX_CALLS = 200;
const store = createStore<readonly LoggedCall[]>([]);
let lastId = 0;

/** Adds an attempted SDK call to the top of the list in the developer drawer. */
export function logCall(call: Call): void {
  const logged = { ...call, id: ++lastId, at: new Date() };
  store.set([logged, ...store.get()].slice(0, MAX_CALLS));
}

export function clearCalls(): void {
  store.set([]);
}

export function useCalls(): readonly LoggedCall[] {
  return useStore(store);
}

/**
 * Formats a call as a curl command. The command contains `$TOKEN` instead of the token, so that sharing the command
 * does not leak the token.
 */
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
