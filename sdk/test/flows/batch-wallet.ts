import { createWalletClient, type Hex, http, parseAbi } from 'viem';
import { sepolia } from 'viem/chains';
import { encodeFunctionData } from 'viem/utils';
import { type Interceptor, ProviderError, type TestWallet } from '../../src/testing/index.ts';

const abi = parseAbi(['struct Call { address to; bytes data; }', 'function execute(Call[] calls)']);

/**
 * The contract that the account delegates to. `execute` makes each call in turn and reverts if one of the calls
 * reverts. Only the account itself may call `execute`. Compiled with solc 0.8.37 from a loop over
 * `calls[i].to.call(calls[i].data)`.
 */
const EXECUTOR =
  '0x' +
  '6080604052348015600e575f5ffd5b506102598061001c5f395ff3fe608060405234801561000f575f5ffd5b506004361061' +
  '0029575f3560e01c8063baae8abf1461002d575b5f5ffd5b61004061003b366004610133565b610042565b005b3330146100' +
  '4d575f5ffd5b5f5b8181101561012e575f5f84848481811061006b5761006b6101a2565b905060200281019061007d919061' +
  '01b6565b61008b9060208101906101d4565b6001600160a01b03168585858181106100a6576100a66101a2565b9050602002' +
  '8101906100b891906101b6565b6100c6906020810190610201565b6040516100d492919061024a565b5f604051808303815f' +
  '865af19150503d805f811461010d576040519150601f19603f3d011682016040523d82523d5f602084013e610112565b6060' +
  '91505b50915091508161012457805160208201fd5b505060010161004f565b505050565b5f5f60208385031215610144575f' +
  '5ffd5b82356001600160401b03811115610159575f5ffd5b8301601f81018513610169575f5ffd5b80356001600160401b03' +
  '81111561017e575f5ffd5b8560208260051b8401011115610192575f5ffd5b6020919091019590945092505050565b634e48' +
  '7b7160e01b5f52603260045260245ffd5b5f8235603e198336030181126101ca575f5ffd5b9190910192915050565b5f6020' +
  '82840312156101e4575f5ffd5b81356001600160a01b03811681146101fa575f5ffd5b9392505050565b5f5f8335601e1984' +
  '3603018112610216575f5ffd5b8301803591506001600160401b0382111561022f575f5ffd5b602001915036819003821315' +
  '610243575f5ffd5b9250929050565b818382375f910190815291905056';

export type BatchRequest = { atomicRequired: boolean; from: Hex; calls: { to: Hex; data: Hex }[] };
export type BatchWallet = {
  /** The batches that the wallet was asked to send. */
  batches: BatchRequest[];
  /** The other methods that were called on the wallet. */
  methods: string[];
};

type Options = {
  /** The status of the `atomic` capability. Default: `supported`. */
  atomic?: string;
  /** Called before a batch is sent. */
  beforeSend?: () => Promise<void>;
  /** Replaces the reply to `wallet_getCallsStatus`. */
  status?: (hash: string) => object;
};

/**
 * Makes the wallet execute batches atomically (EIP-5792). Its account delegates to a contract (EIP-7702), so each batch
 * is a single, real transaction from the account.
 */
export async function enableBatches(
  wallet: TestWallet,
  rpcUrl: string,
  { atomic = 'supported', beforeSend, status }: Options = {},
): Promise<BatchWallet> {
  await delegate(wallet, rpcUrl);
  const record: BatchWallet = { batches: [], methods: [] };
  wallet.intercept(async (call, next) => {
    const [first] = (call.params ?? []) as [unknown];
    if (call.method === 'wallet_getCapabilities') return { '0xaa36a7': { atomic: { status: atomic } } };
    if (call.method === 'wallet_sendCalls') {
      const batch = first as BatchRequest;
      record.batches.push(batch);
      await beforeSend?.();
      return { id: await sendAsOne(batch, next) };
    }
    if (call.method === 'wallet_getCallsStatus')
      return status?.(String(first)) ?? readStatus(String(first), next);
    record.methods.push(call.method);
    return next(call);
  });
  return record;
}

type Next = Parameters<Interceptor>[1];

/**
 * Sends the batch as one transaction. Sets a fixed gas limit, so that a batch that reverts is mined too: without a
 * limit, the wallet would estimate the gas, and the estimate would fail.
 */
async function sendAsOne({ from, calls, atomicRequired }: BatchRequest, next: Next): Promise<string> {
  if (!atomicRequired) throw new ProviderError(-32602, 'This wallet executes batches atomically only.');
  const data = encodeFunctionData({ abi, functionName: 'execute', args: [calls] });
  const params = [{ from, to: from, data, gas: '0x7a120' }];
  return String(await next({ method: 'eth_sendTransaction', params }));
}

async function readStatus(hash: string, next: Next): Promise<object> {
  const receipt = await next({ method: 'eth_getTransactionReceipt', params: [hash] });
  if (receipt === null) return { status: 100 };
  const isDone = Number((receipt as { status: Hex }).status) === 1;
  return { status: isDone ? 200 : 500, atomic: true, receipts: [receipt] };
}

async function delegate({ account, node }: TestWallet, rpcUrl: string): Promise<void> {
  const client = createWalletClient({ account, chain: sepolia, transport: http(rpcUrl) });
  const deployed = await client.deployContract({ abi, bytecode: EXECUTOR as Hex });
  const receipt = (await waitFor(node, deployed)) as { contractAddress: Hex };
  const authorization = await client.signAuthorization({
    contractAddress: receipt.contractAddress,
    executor: 'self',
  });
  await waitFor(
    node,
    await client.sendTransaction({
      authorizationList: [authorization],
      to: account.address,
      data: '0x',
      gas: 200_000n,
    }),
  );
}

async function waitFor(node: TestWallet['node'], hash: Hex): Promise<unknown> {
  for (;;) {
    const receipt = await node('eth_getTransactionReceipt', [hash]);
    if (receipt !== null) return receipt;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
