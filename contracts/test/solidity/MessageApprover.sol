// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @dev An EIP-1271 wallet. Its owner approves messages on chain, so its signatures are empty.
contract MessageApprover {
    address private immutable _owner;
    mapping(bytes32 hash => bool) private _approved;

    constructor(address owner) {
        _owner = owner;
    }

    function approve(bytes32 hash) external {
        require(msg.sender == _owner);
        _approved[hash] = true;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        return signature.length == 0 && _approved[hash] ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}
