import { getAddress } from 'viem/utils';
import { chainIdOf, isEvmChain } from '../chains.ts';
import type { Causeway } from '../client.ts';
import { isCausewayError } from '../error.ts';
import type { Chain } from '../wire.ts';
import { FlowFailure, type FlowOptions, type SiweFields } from './flow.ts';

export type ChallengeRequest = { address: string; chain: Chain; siwe: FlowOptions<never>['siwe'] };

/** Returns the service's challenge: a single-use message that, once signed, proves ownership of the wallet. */
export async function requestChallenge(
  causeway: Causeway,
  { address, chain, siwe }: ChallengeRequest,
  signal: AbortSignal | undefined,
): Promise<string> {
  const signIn = siwe ?? currentPage();
  const isEvm = isEvmChain(chain);
  if (!signIn && !isEvm)
    throw new FlowFailure(
      'invalid_input',
      "Every proof on Solana is a sign-in message. Pass `siwe` with your app's domain and URI.",
    );
  // On Solana, the service names the page that sends the request.
  const fields = signIn && isEvm ? { challenge_type: 'siwe' as const, ...signIn } : {};
  const origin = signIn && !isEvm && URL.canParse(signIn.uri) ? new URL(signIn.uri).origin : undefined;
  const { message } = await causeway.wallets
    .challenge({ wallet_address: address, chain, ...fields }, { signal, origin })
    .catch((error: unknown) => {
      throw signIn ? explainRefusal(error, signIn) : error;
    });
  if (!isProofOf(message, address, chain, signIn))
    throw new FlowFailure(
      'message_refused',
      'The message is not a proof of ownership for this wallet, so you were not asked to sign it.',
      { details: { message } },
    );
  return message;
}

/** Returns undefined if there is no page, as on a server, or if the page has no web address. */
function currentPage(): SiweFields | undefined {
  const { location } = globalThis as { location?: Location };
  return location?.protocol?.startsWith('http') ? { domain: location.host, uri: location.origin } : undefined;
}

/** Tells developers what to register if the service does not know the page. */
function explainRefusal(error: unknown, { uri }: SiweFields): unknown {
  if (!isCausewayError(error, 'validation_failed') || !(error.errors.domain ?? error.errors.uri))
    return error;
  return new FlowFailure(
    'validation_failed',
    `${uri} is not registered for this partner. Add its origin with \`partner set-origins\`, or set \`siwe\`.`,
    { cause: error, details: error.errors },
  );
}

/** Matches the parts of a challenge that the service chooses, in the only format that it uses. */
const CHOSEN =
  /^([-\w.~:/?#[\]@!$&'()*+,;= ]+) asks you to prove that you own this wallet for account ([\dA-HJKMNP-TV-Z]{8})\.[\s\S]*\nNonce: ([\da-z]{25})\nIssued At: ([\d-]{10}T[\d:.]{12}Z)\nExpir.*: ([\d-]{10}T[\d:.]{12}Z)$/m;

const MAX_LIFETIME_MS = 600_000;

/**
 * Returns whether the message is the service's own challenge for this request: fills the service's template with what
 * the request and the message name, and compares the whole text. Any other text could sign the user in to another site.
 * Does not compare the dates with this device's clock, which may be wrong.
 */
function isProofOf(
  message: string,
  address: string,
  chain: Chain,
  signIn: SiweFields | false | undefined,
): boolean {
  const [, partner, account, nonce, issuedAt = '', expiresAt = ''] = CHOSEN.exec(message) ?? [];
  const sentence = `${partner} asks you to prove that you own this wallet for account ${account}.`;
  const isEvm = isEvmChain(chain);
  const chainId = isEvm ? chainIdOf(chain) : chain.split('_')[1];
  const owner = isEvm ? getAddress(address) : address;
  const expected = signIn
    ? [
        `${signIn.domain} wants you to sign in with your ${isEvm ? 'Ethereum' : 'Solana'} account:`,
        owner,
        '',
        signIn.statement === undefined || !isEvm ? sentence : `${sentence} ${signIn.statement}`,
        '',
        `URI: ${signIn.uri}`,
        'Version: 1',
        `Chain ID: ${chainId}`,
        `Nonce: ${nonce}`,
        `Issued At: ${issuedAt}`,
        `Expiration Time: ${expiresAt}`,
      ]
    : [
        sentence,
        '',
        'Signing this text costs nothing and sends no transaction.',
        '',
        `Partner: ${partner}`,
        `Wallet: ${owner}`,
        `Chain: ${chain} (${chainId})`,
        `Nonce: ${nonce}`,
        `Issued At: ${issuedAt}`,
        `Expires At: ${expiresAt}`,
      ];
  const lifetime = Date.parse(expiresAt) - Date.parse(issuedAt);
  return message === expected.join('\n') && lifetime > 0 && lifetime <= MAX_LIFETIME_MS;
}
