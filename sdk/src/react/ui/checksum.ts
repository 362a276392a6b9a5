// A separate module, because nothing else on a page needs a hash function before the first purchase. It is loaded only
// when an address is shown.
export { getAddress as toChecksummed } from 'viem/utils';
