import { lazy } from 'react';

const load = () => import('./late-parts.ts');

export const OpenApprovalNotice = lazy(async () => ({ default: (await load()).OpenApprovalNotice }));
export const SaleDone = lazy(async () => ({ default: (await load()).SaleDone }));
export const SwapDone = lazy(async () => ({ default: (await load()).SwapDone }));
export const UnfinishedSaleNotice = lazy(async () => ({ default: (await load()).UnfinishedSaleNotice }));
export const UnregisteredWalletNotice = lazy(async () => ({
  default: (await load()).UnregisteredWalletNotice,
}));
