import { zeroAddress } from 'viem';
import { acceptsPermissions, allowListAbi } from '../../platform/chain/evm/allow-list.ts';
import { contractCall } from '../../platform/chain/evm/contract-call.ts';
import { optionalView } from '../../platform/chain/evm/optional-view.ts';
import type { Check, CheckTarget } from './check-target.ts';

/**
 * Returns the checks for an allow-list: that the contract is an allow-list, and that it accepts permissions signed by
 * the supplier key. A permission is a signed message that lets a wallet be added to the list.
 */
export function allowListChecks({ contract, chain, addressOf }: CheckTarget): Check[] {
  const list = contract.allow_list;
  if (list === null) return [];
  const { reader } = chain;
  const run = async () => {
    if (await reader.read(contractCall(list, allowListAbi, 'authorized', [zeroAddress])))
      return 'the contract allows every wallet, so there is no allow-list';
    // An allow-list that the issuer maintains accepts no permissions. That is no problem: the issuer adds wallets in a
    // separate process.
    if (!(await acceptsPermissions(chain, list))) return null;
    const domain = await optionalView(reader.read(contractCall(list, allowListAbi, 'eip712Domain', [])));
    if (domain === undefined)
      return 'has nonces(address) but no eip712Domain(), so no permission can be signed';
    const named = await optionalView(reader.read(contractCall(list, allowListAbi, 'supplier', [])));
    const supplier = addressOf('supplier', chain.name);
    if (supplier === null || named === undefined || named.toLowerCase() === supplier.toLowerCase())
      return null;
    return `the contract accepts permissions signed by ${named.toLowerCase()}, not by ${supplier.toLowerCase()}`;
  };
  return [{ path: 'allow_list', run }];
}
