// This is a separate module, loaded only when an address is shown: nothing else on a page needs a hash function before
// the first purchase.
export { getAddress as toChecksummed } from 'viem/utils';
