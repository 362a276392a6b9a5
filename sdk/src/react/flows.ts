// Exports only the flows that the components run, unlike `@causeway/sdk/flows`. The components import this file
// dynamically, and bundlers keep every export of a dynamically imported module.
export { allowWallet } from '../flows/allow-wallet.ts';
export { proveAndBindWallet } from '../flows/bind-wallet.ts';
export { swapFund } from '../flows/fund-swap.ts';
export { findOpenApproval, revokeApproval } from '../flows/open-approval.ts';
export { runTokenSale } from '../flows/sale-purchase.ts';
export { buyTokenSaleOnSolana } from '../flows/solana-sale.ts';
export { buyTokenized } from '../flows/tokenized-purchase.ts';
export { isRejected } from '../flows/wallet-error.ts';
