import type { Wallet } from '../flows/wallet.ts';
import type { Protocol } from './connector.ts';
export type ConnectWalletDialogProps = {
  protocol: Protocol;
  open: boolean;
  onClose(): void;
  onConnected?: ((wallet: Wallet) => void) | undefined;
};
export function ConnectWalletDialog(_props: ConnectWalletDialogProps) {
  return null;
}
