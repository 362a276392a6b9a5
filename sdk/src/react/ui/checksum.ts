// A separate module, loaded only when an address is shown. Nothing else on a page needs a hash function before the
// first purchase.
export { getAddress as toChecksummed } from 'viem/utils';
