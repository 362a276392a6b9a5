// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {OwnableRoles} from "solady/auth/OwnableRoles.sol";
import {ERC20} from "solady/tokens/ERC20.sol";

/// @title Token
/// @notice A plain ERC-20 with EIP-2612 permits and configurable decimals, used for the test dollar, the fund's asset,
/// the venue's dollar and the venue's assets. Role 1 mints and burns.
contract Token is ERC20, OwnableRoles {
    uint256 public constant MINT = 1;

    string private _name;
    string private _symbol;
    uint8 private immutable _decimals;

    constructor(address owner, string memory name_, string memory symbol_, uint8 decimals_) {
        _initializeOwner(owner);
        _name = name_;
        _symbol = symbol_;
        _decimals = decimals_;
    }

    function name() public view override returns (string memory) {
        return _name;
    }

    function symbol() public view override returns (string memory) {
        return _symbol;
    }

    function decimals() public view override returns (uint8) {
        return _decimals;
    }

    function mint(address to, uint256 amount) external onlyOwnerOrRoles(MINT) {
        _mint(to, amount);
    }

    /// @notice Burns the caller's tokens.
    function burn(uint256 amount) external onlyOwnerOrRoles(MINT) {
        _burn(msg.sender, amount);
    }

    /// @dev Disables solady's infinite allowance for Permit2, so that owners grant every allowance
    /// themselves.
    function _givePermit2InfiniteAllowance() internal pure override returns (bool) {
        return false;
    }
}
