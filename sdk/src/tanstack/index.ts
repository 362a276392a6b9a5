export { queryClientCache } from './query-client-cache.ts';
export { type CausewayQueryKey, causewayQueries, type QueryOptionsOf } from './query-options.ts';
