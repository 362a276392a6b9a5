// The parts of the checkouts that load later, in one file: each file of its own would add to the first load. A purchase
// loads them before it sends anything, so that the network cannot fail between a purchase and its result.
export { buySale } from './buy-sale.ts';
export { OpenApprovalNotice } from './open-approval-notice.tsx';
export { SaleDone } from './sale-done.tsx';
export { SwapDone } from './swap-done.tsx';
export { UnfinishedSaleNotice } from './unfinished-sale-notice.tsx';
export { UnregisteredWalletNotice } from './unregistered-wallet-notice.tsx';
