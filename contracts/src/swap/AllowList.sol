// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {OwnableRoles} from "solady/auth/OwnableRoles.sol";
import {EIP712} from "solady/utils/EIP712.sol";
import {SignatureCheckerLib} from "solady/utils/SignatureCheckerLib.sol";
import {IAllowList} from "./IAllowList.sol";

/// @notice See `IAllowList`.
abstract contract AllowList is IAllowList, OwnableRoles, EIP712 {
    /// @notice The role that may revoke wallets.
    uint256 public constant REVOKE = 2;

    bytes32 public constant PERMISSION_TYPEHASH =
        keccak256("AllowWallet(address wallet,bytes32 offer,uint256 nonce,uint256 deadline)");

    /// @dev Whether the contract has an allow-list. Immutable, so that changing the supplier can never open
    /// the contract to everyone.
    bool private immutable _closed;

    address public supplier;
    mapping(address wallet => bool) private _allowed;
    mapping(address wallet => uint256) public nonces;

    constructor(address supplier_) {
        _closed = supplier_ != address(0);
        supplier = supplier_;
        if (_closed) emit SupplierChanged(supplier_);
    }

    function allow(address wallet, bytes32 offer, uint256 deadline, bytes calldata signature) external {
        if (!_closed) revert NoAllowList();
        if (block.timestamp > deadline) revert PermissionExpired(deadline);
        bytes32 permission =
            _hashTypedData(keccak256(abi.encode(PERMISSION_TYPEHASH, wallet, offer, nonces[wallet], deadline)));
        if (!SignatureCheckerLib.isValidSignatureNowCalldata(supplier, permission, signature)) {
            revert InvalidPermission();
        }
        if (_allowed[wallet]) return;
        _allowed[wallet] = true;
        emit Allowed(wallet, offer);
    }

    function revoke(address wallet) external onlyOwnerOrRoles(REVOKE) {
        _allowed[wallet] = false;
        emit Revoked(wallet, ++nonces[wallet]);
    }

    function setSupplier(address supplier_) external onlyOwner {
        if (!_closed || supplier_ == address(0)) revert NoAllowList();
        supplier = supplier_;
        emit SupplierChanged(supplier_);
    }

    function authorized(address wallet) public view returns (bool) {
        return !_closed || _allowed[wallet];
    }

    function domainSeparator() external view returns (bytes32) {
        return _domainSeparator();
    }

    function _domainNameAndVersion() internal pure override returns (string memory, string memory) {
        return ("Causeway Fund Swap", "1");
    }
}
