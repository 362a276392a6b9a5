import type { Abi, ContractFunctionArgs, ContractFunctionName, Hex } from 'viem';
import {
  type EncodeDeployDataParameters,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
} from 'viem/utils';
import { roles } from '../../seed/keys.ts';
import type { PlannedTransaction } from './transact.ts';

export type Role = keyof typeof roles;
export type PlannedStep = PlannedTransaction & { by: Role; nonce: number };

type Artifact<A extends Abi> = { abi: A; bytecode: Hex };
type Mutability = 'nonpayable' | 'payable';

/** Collects transactions and assigns their nonces, so that all contract addresses are known before anything is sent. */
export function createPlanner() {
  const steps: PlannedStep[] = [];
  const nonces = new Map<Role, number>();

  function add(by: Role, transaction: PlannedTransaction): number {
    const nonce = nonces.get(by) ?? 0;
    nonces.set(by, nonce + 1);
    steps.push({ ...transaction, by, nonce });
    return nonce;
  }

  /** Plans a contract's deployment. Returns the contract's address. */
  function create<const A extends Abi>(
    artifact: Artifact<A>,
    args: EncodeDeployDataParameters<A>['args'],
  ): Hex {
    const data = encodeDeployData({ ...artifact, args } as unknown as EncodeDeployDataParameters);
    const nonce = add('deployer', { data });
    return getContractAddress({ from: roles.deployer.address, nonce: BigInt(nonce) }).toLowerCase() as Hex;
  }

  function call<const A extends Abi, Name extends ContractFunctionName<A, Mutability>>(
    by: Role,
    to: Hex,
    { abi }: { abi: A },
    functionName: Name,
    args: ContractFunctionArgs<A, Mutability, Name>,
  ): void {
    const data = encodeFunctionData({
      abi: abi as Abi,
      functionName: functionName as string,
      args: args as unknown[],
    });
    add(by, { to, data });
  }

  return { steps, create, call };
}

export type Planner = ReturnType<typeof createPlanner>;
