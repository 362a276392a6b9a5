// The parts of the checkouts that load on demand, in one file: separate files would make the first load larger. A
// purchase loads them before it sends anything, so that it can show its result even if the network fails afterwards.
export { buySale } from './buy-sale.ts';
export { OpenApprovalNotice } from './open-approval-notice.tsx';
export { SaleDone } from './sale-done.tsx';
export { SwapDone } from './swap-done.tsx';
export { UnfinishedSaleNotice } from './unfinished-sale-notice.tsx';
export { UnregisteredWalletNotice } from './unregistered-wallet-notice.tsx';
