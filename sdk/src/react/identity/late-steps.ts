// The steps of the checklist, in one file that loads with the first step: users who have met all requirements need none.
export { WalletStep } from '../wallets/wallet-step.tsx';
export { DocumentStep } from './document-step.tsx';
export { IdentityStep } from './identity-step.tsx';
