export { queryClientCache } from './query-client-cache.ts';
export {
  type CausewayQueryKey,
  causewayQueries,
  type QueryOptionsOf,
  type QueryScope,
} from './query-options.ts';
