// Everything that a page does not need for its first view, all in one file because several smaller files would add up
// to more code. A purchase loads this file before it sends a transaction, so that the page can show the result even if
// the network fails afterwards.
export { buySale, discardSale } from './checkout/buy-sale.ts';
export { OpenApprovalNotice } from './checkout/open-approval-notice.tsx';
export { readOpenApprovals } from './checkout/read-open-approvals.ts';
export { LivePriceNote, ReviewSheet } from './checkout/review-sheet.tsx';
export { runExclusively, swapLock } from './checkout/run-exclusively.ts';
export { SaleDone } from './checkout/sale-done.tsx';
export { SwapDone } from './checkout/swap-done.tsx';
export { UnfinishedSaleNotice } from './checkout/unfinished-sale-notice.tsx';
export { UnregisteredWalletNotice } from './checkout/unregistered-wallet-notice.tsx';
export { openHostedFlow, openSumsubFlow } from './identity/identity-flows.ts';
export { IdentityStep } from './identity/identity-step.tsx';
export { RequirementStep } from './identity/requirement-step.tsx';
export { AllowWalletPanel } from './wallets/allow-wallet-panel.tsx';
