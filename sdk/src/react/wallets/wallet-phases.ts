import type { AllowWalletPhase } from '../../flows/allow-wallet.ts';
import type { BindWalletPhase } from '../../flows/bind-wallet.ts';
import type { Message } from '../ui/messages.ts';

export const BIND_PHASES: Record<BindWalletPhase, Message> = {
  connecting: 'Connecting to your wallet…',
  challenging: 'Preparing a message for you to sign…',
  signing: "Sign the message in your wallet. It's free.",
  binding: 'Registering your wallet…',
};

export const ALLOW_PHASES: Record<AllowWalletPhase, Message> = {
  connecting: 'Switching your wallet to the right network…',
  checking: 'Checking whether your wallet is already allowed…',
  challenging: 'Preparing a message for you to sign…',
  signing: "Sign the message in your wallet. It's free.",
  allowing: 'Requesting access…',
  broadcasting: 'Confirm the transaction in your wallet. A network fee applies.',
  confirming: 'Waiting for the network to confirm…',
};
