// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @dev The base of tokens that predate the final ERC-20 standard. Like contracts from old compilers, these tokens fail
/// with an invalid opcode that burns all gas.
abstract contract LegacyToken {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    address public immutable owner;
    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address account => mapping(address spender => uint256)) public allowance;

    constructor(address owner_) {
        owner = owner_;
    }

    function mint(address to, uint256 amount) external {
        _must(msg.sender == owner);
        totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(address(0), to, amount);
    }

    function _approve(address spender, uint256 amount) internal {
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
    }

    function _spend(address from, uint256 amount) internal {
        uint256 left = allowance[from][msg.sender];
        _must(left >= amount);
        if (left != type(uint256).max) allowance[from][msg.sender] = left - amount;
    }

    function _move(address from, address to, uint256 amount) internal {
        _must(balanceOf[from] >= amount);
        unchecked {
            balanceOf[from] -= amount;
            balanceOf[to] += amount;
        }
        emit Transfer(from, to, amount);
    }

    function _must(bool holds) internal pure {
        if (holds) return;
        assembly ("memory-safe") {
            invalid()
        }
    }
}
