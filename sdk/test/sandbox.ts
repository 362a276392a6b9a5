import { createPublicClient, createWalletClient, type Hex, http, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { sharedSandbox } from '../../service/test/support/service.ts';

type Partner = { client_id: string; client_secret: string; redirect_uris: string[] };

/** The fields of `GET /sandbox` that the tests need. */
export type Overview = {
  base_url: string;
  partner: Partner;
  users: { id: string; email: string; password: string }[];
  chains: { chain: string; rpc_url: string; tokens: { asset_id: string; address: Hex }[] }[];
  wallets: { address: string; private_key: Hex; protocol: 'ethereum' | 'solana' }[];
  offers: { id: string; slug: string; type: string; options: { id: string; slug: string }[] }[];
};

export type User = { id: string; email: string; password: string };

export type Sandbox = {
  url: string;
  overview: Overview;
  control<Reply>(path: string, body: object): Promise<Reply>;
  newUser(): Promise<User>;
  /** Returns the tokens of a completed sign-in. */
  tokens(email: string): Promise<{ access_token: string; refresh_token: string }>;
  /** Returns an access token for the partner, not for a user. */
  partnerToken(): Promise<{ access_token: string }>;
  /** Sends an approval from the sandbox wallet with this index and returns the transaction hash. */
  approve(wallet: number, token: Hex, spender: Hex, amount: bigint): Promise<Hex>;
  sign(wallet: number, message: string): Promise<Hex>;
};

/** Returns the sandbox of this worker, which other test files use too. */
export async function useSandbox(): Promise<Sandbox> {
  const service = await sharedSandbox();
  const control = async <Reply>(path: string, body: object): Promise<Reply> => {
    const reply = await fetch(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
    return (await reply.json()) as Reply;
  };
  const overview = (await (await fetch(`${service.url}/sandbox`)).json()) as Overview;
  const account = (index: number) => privateKeyToAccount(overview.wallets[index]?.private_key ?? '0x');
  return {
    url: service.url,
    overview,
    control,
    newUser: () => control('/sandbox/users', {}),
    tokens: (email) => control('/sandbox/token', { email }),
    partnerToken: () => {
      const { client_id, client_secret } = overview.partner;
      return control('/oauth/token', { grant_type: 'client_credentials', client_id, client_secret });
    },
    sign: (wallet, message) => account(wallet).signMessage({ message }),
    approve: async (wallet, token, spender, amount) => {
      const transport = http(overview.chains[0]?.rpc_url);
      const writer = createWalletClient({ chain: sepolia, transport, account: account(wallet) });
      const hash = await writer.writeContract({
        address: token,
        abi: parseAbi(['function approve(address, uint256)']),
        functionName: 'approve',
        args: [spender, amount],
      });
      const reader = createPublicClient({ chain: sepolia, transport, pollingInterval: 50 });
      await reader.waitForTransactionReceipt({ hash });
      return hash;
    },
  };
}
