// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {SignatureCheckerLib} from "solady/utils/SignatureCheckerLib.sol";

/// @dev An EIP-1271 wallet with one key.
contract ContractSigner {
    address private immutable _key;

    constructor(address key) {
        _key = key;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        return SignatureCheckerLib.isValidSignatureNowCalldata(_key, hash, signature)
            ? this.isValidSignature.selector
            : bytes4(0xffffffff);
    }
}
