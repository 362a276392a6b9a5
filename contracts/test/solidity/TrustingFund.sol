// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ISaleFund} from "../../src/sale/ISaleFund.sol";
import {SaleFundBase} from "../../src/sale/SaleFundBase.sol";

/// @dev A fund like some third-party deployments: it credits the requested amount without checking what arrived, and
/// its batches have no gas limit per row.
contract TrustingFund is ISaleFund, SaleFundBase {
    uint256 public constant VERSION = 1;

    constructor(address owner) SaleFundBase(owner, 0, 1) {}

    function commit(address user, bytes32 option, address token, uint256 amount) public onlyRoles(COMMIT) {
        _commit(user, option, token, amount);
    }

    function commit(
        address[] calldata users,
        bytes32[] calldata options,
        address[] calldata tokens,
        uint256[] calldata amounts
    ) external onlyRoles(COMMIT) {
        uint256 failed;
        for (uint256 i; i < users.length; ++i) {
            try this.commitRow(users[i], options[i], tokens[i], amounts[i]) {}
            catch {
                ++failed;
                emit BatchFail(0, users[i], options[i], tokens[i], amounts[i]);
            }
        }
        emit Batched(0, users.length - failed, failed);
    }

    function commitRow(address user, bytes32 option, address token, uint256 amount) external {
        if (msg.sender != address(this)) revert Unauthorized();
        _commit(user, option, token, amount);
    }

    function remit(address user, bytes32 option, address token, uint256 amount) public onlyRoles(REMIT) {
        _addRemit(user, option, token, amount);
        emit Remitted(user, option, token, amount);
        if (!_tryPay(token, user, amount)) revert RemitFailed(user, option, token);
    }

    function remit(address[] calldata users, bytes32 option, address token, uint256[] calldata amounts) external {
        for (uint256 i; i < users.length; ++i) {
            remit(users[i], option, token, amounts[i]);
        }
    }

    function _commit(address user, bytes32 option, address token, uint256 amount) private {
        _addCommit(user, option, token, amount);
        emit Committed(user, option, token, amount);
        (bool moved,) = token.call(
            abi.encodeWithSignature("transferFrom(address,address,uint256)", user, address(this), amount)
        );
        if (!moved) revert CommitFailed(user, option, token);
    }
}
